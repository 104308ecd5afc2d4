"""Django's WSGI application. `asgi.py` runs it on a pool of threads; another WSGI server may run it too."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chief_project.settings")

application = get_wsgi_application()

# What is loaded now stays as long as the process, so the collector needn't walk it again and again; and a large plan
# is a hundred thousand objects of which none is garbage. With Python's own thresholds more than half of the time of
# submitting one went into looking.
gc.collect()
gc.freeze()
gc.set_threshold(50_000)
