package main

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sigstore "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"
)

// writeNotes writes what CHANGELOG.md says of this version, for the page of the release.
func (r *release) writeNotes(context.Context) error {
	text, err := os.ReadFile(filepath.Join(r.source, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	notes := section(string(text), r.version)
	if notes == "" && !strings.Contains(r.version, "-") { // a commit without a tag has a version with a hyphen
		return fmt.Errorf("CHANGELOG.md has no section %s", r.version)
	}
	return write(r.file("notes.md"), []byte(notes))
}

// section returns the text below the heading of a version.
func section(changelog, version string) string {
	_, after, found := strings.Cut(changelog, "\n## "+version)
	if !found {
		return ""
	}
	_, after, _ = strings.Cut(after, "\n")
	text, _, _ := strings.Cut(after, "\n## ")
	return strings.TrimSpace(text) + "\n"
}

// writeChecksums writes the checksums of all files, in the format of sha256sum, and signs them.
func (r *release) writeChecksums(context.Context) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, entry := range entries {
		if entry.IsDir() || slices.Contains([]string{"notes.md", "pushed.txt"}, entry.Name()) {
			continue
		}
		sum, err := sha256Of(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, entry.Name())
	}
	if err := write(r.file("checksums.txt"), []byte(sums.String())); err != nil || r.key == "" {
		return err
	}
	return r.sign(sums.String())
}

// sign writes the bundle that cosign sign-blob --key writes, for cosign verify-blob --key.
func (r *release) sign(text string) error {
	signer, err := signature.LoadSignerFromPEMFile(r.key, crypto.SHA256, cryptoutils.PassFunc(func(bool) ([]byte, error) {
		return []byte(os.Getenv("COSIGN_PASSWORD")), nil
	}))
	if err != nil {
		return fmt.Errorf("-key: %w", err)
	}
	signed, err := signer.SignMessage(strings.NewReader(text))
	if err != nil {
		return err
	}
	public, err := signer.PublicKey()
	if err != nil {
		return err
	}
	der, err := cryptoutils.MarshalPublicKeyToDER(public)
	if err != nil {
		return err
	}
	hint, digest := sha256.Sum256(der), sha256.Sum256([]byte(text))
	bundle, err := protojson.Marshal(&sigstore.Bundle{
		MediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
		VerificationMaterial: &sigstore.VerificationMaterial{Content: &sigstore.VerificationMaterial_PublicKey{
			PublicKey: &common.PublicKeyIdentifier{Hint: base64.StdEncoding.EncodeToString(hint[:])},
		}},
		Content: &sigstore.Bundle_MessageSignature{MessageSignature: &common.MessageSignature{
			MessageDigest: &common.HashOutput{Algorithm: common.HashAlgorithm_SHA2_256, Digest: digest[:]}, Signature: signed,
		}},
	})
	if err != nil {
		return err
	}
	return write(r.file("checksums.txt.sigstore.json"), bundle)
}
