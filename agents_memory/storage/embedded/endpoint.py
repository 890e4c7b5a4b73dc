"""How a client names the embedded server: socket directory, port, database, role."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

PORT = 5432
DATABASE = "memory"
OWNER = "memory_owner"
COLD = "memory_cold"
HOT = "memory_hot"
ROLES = (OWNER, COLD, HOT)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of an embedded server; it says nothing about whether one runs there."""

    host: Path
    port: int = PORT
    database: str = DATABASE

    def dsn(self, role: str) -> str:
        """A DSN for asyncpg; `role` is one of `ROLES`, else ValueError."""
        if role not in ROLES:
            raise ValueError(f"{role!r} is no role of the pool; use one of {', '.join(ROLES)}")
        # All is spelt out, because PGPORT, PGSSLMODE and their kin, meant for another server, would
        # win over a default.
        host = quote(str(self.host), safe="")
        return (
            f"postgresql://{role}@/{self.database}?host={host}&port={self.port}"
            "&sslmode=disable&sslnegotiation=postgres&target_session_attrs=any"
        )
