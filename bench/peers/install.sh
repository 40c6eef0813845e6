#!/usr/bin/env bash
# Installs the programs that bench/columns.ts compares with, in a virtual environment of their own: bench/peers/install.sh FOLDER
set -euo pipefail
folder=${1:?Say where: bench/peers/install.sh FOLDER}
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet duckdb adbc-driver-manager adbc-driver-postgresql pyarrow connectorx 'dlt[duckdb]' sqlalchemy psycopg2-binary
# The last release of sling whose packages bring the program with them.
if [ "$(uname -sm)" = "Linux x86_64" ]; then
  "$folder/bin/pip" install --quiet sling-linux-amd64==1.4.11
  ln -sf "$(find "$folder/lib" -name sling-linux-amd64 -type f)" "$folder/bin/sling"
  chmod +x "$folder/bin/sling"
fi
echo "SVC_PEERS=$folder node --conditions=svc-source bench/columns.ts"
