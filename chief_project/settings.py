"""Django's settings. What an operator may set comes from `environment.py`; nothing here reads os.environ itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from csp.constants import NONE, SELF

from chief_project.environment import BadEnvironment, read_environment
from chief_project.logs import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent

try:
    ENVIRONMENT = read_environment(os.environ, base_dir=BASE_DIR)
except BadEnvironment as problem:
    sys.exit(f"chief: {problem}")

# -- Where it is reached ---------------------------------------------------------------------------

CHIEF_VERSION = "1.0.0.dev0"
CHIEF_URL = ENVIRONMENT.url  # every link starts with it
CHIEF_DATA_DIR = ENVIRONMENT.data_dir
CHIEF_METRICS = ENVIRONMENT.metrics
CHIEF_MAX_BODY_BYTES = ENVIRONMENT.max_body_bytes
CHIEF_MAX_JSON_DEPTH = ENVIRONMENT.max_json_depth
CHIEF_THREADS = ENVIRONMENT.threads
CHIEF_MCP_TOOLS = ENVIRONMENT.mcp_tools
CHIEF_SKILL_FILE = BASE_DIR / "integrations" / "SKILL.md"

DEBUG = ENVIRONMENT.debug
SECRET_KEY = ENVIRONMENT.secret_key
ALLOWED_HOSTS = ENVIRONMENT.allowed_hosts
CSRF_TRUSTED_ORIGINS = [ENVIRONMENT.url]

ROOT_URLCONF = "chief_project.urls"
WSGI_APPLICATION = "chief_project.wsgi.application"

# -- Apps and middleware ---------------------------------------------------------------------------

INSTALLED_APPS = [
    "chief_project.shared.admin_config.ChiefAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "template_partials",
    "chief_project",
    "chief_project.shared",
    "workflows",
    "runs",
    "amendments",
]

# Every request to /v1 passes here: keep it short. The session, the user and the messages are lazy, so
# that a request with a token pays for none of them.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "chief_project.shared.http.middleware.ServedHosts",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "chief_project.shared.http.middleware.ContentSecurityPolicy",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

if CHIEF_METRICS:
    INSTALLED_APPS.append("django_prometheus")
    MIDDLEWARE = [
        "django_prometheus.middleware.PrometheusBeforeMiddleware",
        *MIDDLEWARE,
        "django_prometheus.middleware.PrometheusAfterMiddleware",
    ]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# -- Database --------------------------------------------------------------------------------------

DATABASES = {"default": ENVIRONMENT.database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- People ----------------------------------------------------------------------------------------

AUTH_USER_MODEL = "shared.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # first: it refuses a locked-out caller before a password is tried
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# Failed sign-ins: the pair is locked, so that nobody can lock a colleague out from elsewhere.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 1  # hour
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True  # Chief's own audit keeps who signed in
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "chief_project.shared.web.views.too_many_tries"

# -- Transport and browser -------------------------------------------------------------------------

if ENVIRONMENT.https:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    # uvicorn believes X-Forwarded-Proto from the addresses in FORWARDED_ALLOW_IPS (this machine unless set),
    # so request.is_secure() is right behind a proxy without SECURE_PROXY_SSL_HEADER.
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]  # probes come over plain HTTP
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60

# HSTS is for this host alone: what other hosts of the domain do isn't Chief's to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

SESSION_COOKIE_NAME = "chief_session"
CSRF_COOKIE_NAME = "chief_csrf"
CSRF_FAILURE_VIEW = "chief_project.web.pages.stale_form"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
# For the API's browsable description alone (`@csp_update(settings.CSP_FOR_API_DOCS)`): with
# SpectacularSwaggerSplitView its script is a file of ours, so script-src stays as it is and no nonce is
# needed; its page has one inline style and its style sheet draws icons from data: addresses.
CSP_FOR_API_DOCS = {"style-src": ["'unsafe-inline'"], "img-src": ["data:"]}

# -- Bodies ----------------------------------------------------------------------------------------

# The ASGI router refuses larger bodies before Django sees them; this holds where another server runs it.
DATA_UPLOAD_MAX_MEMORY_SIZE = CHIEF_MAX_BODY_BYTES

# -- REST ------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "chief_project.shared.auth.TokenAuthentication",
        "chief_project.shared.auth.SessionAuthentication",
    ],
    "DEFAULT_PARSER_CLASSES": ["chief_project.shared.wire.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["chief_project.shared.wire.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "chief_project.shared.openapi.ChiefSchema",
    "EXCEPTION_HANDLER": "chief_project.shared.http.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Chief",
    "DESCRIPTION": "Records and judges what a harness may change, and who must say yes.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": "/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": ["chief_project.shared.openapi.finish"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},  # no badge from another host
}

# -- Static files ----------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.is_dir()]
# whitenoise serves the files of the apps and of static/ from where they are: nothing to collect, no CDN.
WHITENOISE_USE_FINDERS = True

# -- Language and time -----------------------------------------------------------------------------

# Pages speak the reader's language (web/pages.py); REST, MCP, commands and the admin site speak English.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "chief_project.formats"

# -- Logs ------------------------------------------------------------------------------------------

LOGGING = logging_settings(debug=DEBUG, access_log=ENVIRONMENT.access_log)
