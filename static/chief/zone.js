// The reader's time zone, for the server to write times in. Who chose one in their profile is asked no more.
const zone = (() => { try { return Intl.DateTimeFormat().resolvedOptions().timeZone; } catch { return ""; } })();
if (zone) document.cookie = `chief_zone=${zone}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
