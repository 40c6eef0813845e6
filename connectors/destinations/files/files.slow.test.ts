import { describeDestination } from "../../../tests/destination-behaviour.ts";
import { openFilesPlace } from "../../../tests/files-place.ts";

describeDestination("files", openFilesPlace);
