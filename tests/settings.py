"""The product's settings, with a data directory of its own, quick passwords and a database in a file.

DATABASE_URL is honoured: with PostgreSQL there, the whole suite runs on it. Workers of pytest-xdist inherit the
environment of the process that started them, and so its directory; pytest-django gives each a database.
"""

import atexit
import os
import shutil
import tempfile

if "CHIEF_TEST_DIR" not in os.environ:
    os.environ["CHIEF_TEST_DIR"] = tempfile.mkdtemp(prefix="chief-tests-")
    atexit.register(shutil.rmtree, os.environ["CHIEF_TEST_DIR"], ignore_errors=True)

os.environ["CHIEF_DATA_DIR"] = os.environ["CHIEF_TEST_DIR"]
os.environ["CHIEF_SECRET_KEY"] = "only-for-tests-" + "0123456789abcdef" * 4
for name in (
    "CHIEF_URL",
    "CHIEF_DEBUG",
    "CHIEF_MAX_BODY_BYTES",
    "CHIEF_MAX_JSON_DEPTH",
    "CHIEF_SECRET_KEY_FILE",
):
    os.environ.pop(name, None)

from chief_project.settings import *  # noqa: E402, F403
from chief_project.settings import CHIEF_DATA_DIR, DATABASES, ENVIRONMENT  # noqa: E402

ALLOWED_HOSTS = [*ENVIRONMENT.allowed_hosts, "testserver"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file and not memory: threads of a test see one database, as in production.
if not ENVIRONMENT.postgresql:
    DATABASES["default"]["TEST"] = {"NAME": str(CHIEF_DATA_DIR / "test.sqlite3")}
