"""Every page for people who are signed in, one list a subject."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
