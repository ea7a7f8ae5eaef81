package bundle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	opabundle "github.com/open-policy-agent/opa/v1/bundle"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
	"github.com/podverdict/podverdict/runtime/rego"
)

// maxArchive is the size of the largest archive that is read: 64 MiB.
const maxArchive = 64 << 20

// Source is where rules are read from.
type Source struct {
	// Reference is a folder, an archive, or an artifact oci://REGISTRY/REPOSITORY:TAG, or @DIGEST instead of the tag.
	Reference string
	// Key is the file of the key that must have signed the archive, in PEM; "" means that none must.
	Key string
	// PlainHTTP uses no TLS, as registries of the local host never do.
	PlainHTTP bool
}

// Open reads the rules. They are not compiled yet.
func (s Source) Open(ctx context.Context) (*opabundle.Bundle, error) {
	var keys *opabundle.VerificationConfig
	var err error
	if s.Key != "" {
		if keys, err = verification(s.Key); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(s.Reference); err == nil && info.IsDir() {
		if keys != nil {
			return nil, in(s.Reference, errors.New("a folder has no signature: --verification-key needs an archive"))
		}
		return named(s.Reference)(rego.Load(os.DirFS(s.Reference)))
	}
	archive, err := s.archive(ctx)
	if err != nil {
		return nil, err
	}
	return named(s.Reference)(rego.Read(bytes.NewReader(archive), keys))
}

// named puts the name of the bundle before an error.
func named(name string) func(*opabundle.Bundle, error) (*opabundle.Bundle, error) {
	return func(b *opabundle.Bundle, err error) (*opabundle.Bundle, error) {
		if err != nil {
			return nil, in(name, err)
		}
		return b, nil
	}
}

func (s Source) archive(ctx context.Context) ([]byte, error) {
	if strings.HasPrefix(s.Reference, Scheme) {
		archive, err := Registry{Reference: s.Reference, PlainHTTP: s.PlainHTTP}.pull(ctx)
		if err != nil {
			return nil, in(s.Reference, err)
		}
		return archive, nil
	}
	file, err := os.Open(s.Reference)
	if err != nil {
		return nil, manifest.ErrUnreadable(s.Reference, err)
	}
	defer file.Close()
	archive, err := io.ReadAll(io.LimitReader(file, maxArchive+1))
	if err != nil {
		return nil, manifest.ErrUnreadable(s.Reference, err)
	}
	if len(archive) > maxArchive {
		return nil, in(s.Reference, errTooLarge(maxArchive))
	}
	return archive, nil
}
