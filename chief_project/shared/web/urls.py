"""Pages that need no app: signing in, the password, signing out."""

from django.urls import path

from chief_project.shared.web import views

urlpatterns = [
    path("signin", views.sign_in_view, name="sign-in"),
    path("signin/link", views.sign_in_link_view, name="sign-in-link"),
    path("signin/link/<slug:secret>", views.sign_in_link_page, name="sign-in-link-page"),
    path("password", views.password_view, name="password"),
    path("signout", views.sign_out_view, name="sign-out"),
]
