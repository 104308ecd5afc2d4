"""Every page for people who are signed in, one list a subject."""

from django.urls import URLPattern

from chief_project.web import audit, events, policies, profile, tokens

urlpatterns: list[URLPattern] = [
    *audit.urlpatterns,
    *events.urlpatterns,
    *policies.urlpatterns,
    *profile.urlpatterns,
    *tokens.urlpatterns,
]
