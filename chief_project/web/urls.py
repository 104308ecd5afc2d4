"""Every page for people who are signed in, one list a subject."""

from django.urls import URLPattern

from chief_project.web import events

urlpatterns: list[URLPattern] = [
    *events.urlpatterns,
]
