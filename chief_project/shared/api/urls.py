"""Routes below ``/v1`` that belong to no single app."""

from django.urls import path

from chief_project.shared.api import views

urlpatterns = [
    path("me", views.Me.as_view(), name="me"),
    path("audit", views.Audit.as_view(), name="audit"),
]
