"""Makes a folder with the packages of Python that tests use, once for all who ask. Arguments: the folder, and packages.

Who comes while it is made waits; what was begun and not ended is made anew. The folders of other lists go.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

folder, *packages = sys.argv[1:]
environment = Path(folder)
environment.parent.mkdir(parents=True, exist_ok=True)
with open(environment.parent / "lock", "w") as lock:
    # Ends with this process, however it ends.
    fcntl.flock(lock, fcntl.LOCK_EX)
    complete = environment / "complete"
    if not complete.exists():
        for other in environment.parent.iterdir():
            if other.is_dir():
                shutil.rmtree(other)
        venv.create(environment, with_pip=True)
        python = str(environment / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
        # A tenth of the processor that pip takes; pip has the last word, it may know another index.
        quick = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
        subprocess.run([*pip, "uv==0.8.24"], check=False)
        if subprocess.run([*quick, *packages], check=False, stderr=subprocess.DEVNULL).returncode != 0:
            subprocess.run([*pip, *packages], check=True)
        os.close(os.open(complete, os.O_CREAT))
