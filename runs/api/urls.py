"""Routes below ``/v1``."""

urlpatterns: list = []
