package main

import (
	"crypto"
	"crypto/elliptic"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	trust "github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// signingKey writes a key as cosign generate-key-pair does.
func signingKey(t *testing.T) (file string, public crypto.PublicKey) {
	t.Helper()
	private, text, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), cryptoutils.StaticPasswordFunc([]byte(password)))
	if err != nil {
		t.Fatal(err)
	}
	public, err = cryptoutils.UnmarshalPEMToPublicKey(text)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, private, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, public
}

// verifyBlob is cosign verify-blob --insecure-ignore-tlog --key --bundle: cosign calls the same library with the same options.
func verifyBlob(t *testing.T, file, text string, public crypto.PublicKey) error {
	t.Helper()
	signed, err := bundle.LoadJSONFromPath(file)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signature.LoadVerifier(public, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	trusted := trust.NewTrustedPublicKeyMaterial(func(string) (trust.TimeConstrainedVerifier, error) {
		return trust.NewExpiringKey(key, time.Time{}, time.Time{}), nil
	})
	verifier, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	_, err = verifier.Verify(signed, verify.NewPolicy(verify.WithArtifact(strings.NewReader(text)), verify.WithKey()))
	return err
}

func TestChecksumsAreSigned(t *testing.T) {
	key, public := signingKey(t)
	_, other := signingKey(t)
	t.Setenv("COSIGN_PASSWORD", password)
	r := &release{options: options{out: t.TempDir(), key: key}}
	for text, check := range map[string]struct {
		signed string
		key    crypto.PublicKey
		want   string
	}{
		"the same":       {"abc  a\n", public, ""},
		"another text":   {"abd  a\n", public, "invalid"},
		"another key":    {"abc  a\n", other, "invalid"},
		"without a text": {"", public, "invalid"},
	} {
		if err := r.sign("abc  a\n"); err != nil {
			t.Fatal(err)
		}
		err := verifyBlob(t, r.file("checksums.txt.sigstore.json"), check.signed, check.key)
		if (err == nil) != (check.want == "") || err != nil && !strings.Contains(err.Error(), check.want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	t.Setenv("COSIGN_PASSWORD", "another")
	if err := r.sign("abc  a\n"); err == nil || !strings.Contains(err.Error(), "-key: ") {
		t.Errorf("a wrong password: %v", err)
	}
}
