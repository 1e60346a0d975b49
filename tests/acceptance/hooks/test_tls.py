"""A hub behind https: certificates are verified, and an authority of one's own is taken from SSL_CERT_FILE."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.stubs.hook_home import HookHome
from tests.stubs.hook_server import HookServer


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub.example")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "hub.pem"
    path.write_bytes(
        signed.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return path


@pytest.mark.parametrize("where", ["environment", "env file"])
def test_a_hub_with_ones_own_authority_is_reached(tmp_path: Path, certificate: Path, where: str) -> None:
    """With SSL_CERT_FILE in the environment or in Argus' env file both hooks work over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with HookServer(tls=context, text="recorded facts") as server:
        home = HookHome(tmp_path / "home", server.url)
        if where == "environment":
            home.extra["SSL_CERT_FILE"] = str(certificate)
        else:
            with (home.argus / "env").open("a") as file:
                file.write(f"SSL_CERT_FILE={certificate}\n")
        session = home.session()
        texts = session.talk(3)
        home.capture(session.event())
        assert server.bodies == texts
        assert home.recall(session.event("SessionStart")).context == "recorded facts"


def test_an_unknown_certificate_is_refused(tmp_path: Path, certificate: Path) -> None:
    """Without it nothing is sent, the token least of all, and the log names the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with HookServer(tls=context) as server:
        home = HookHome(tmp_path / "home", server.url)
        session = home.session()
        session.talk(3)
        assert home.capture(session.event()).code == 0
        assert server.requests == []
        assert "certificate was not accepted" in home.log
        assert home.offset(session.id) == {}
