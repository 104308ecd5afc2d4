"""Django's WSGI application. `asgi.py` runs it on a pool of threads; another WSGI server may run it too."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chief_project.settings")

application = get_wsgi_application()
