package bundle

import (
	"errors"
	"fmt"

	"github.com/podverdict/podverdict/cmd/podverdict/internal/manifest"
)

var (
	errNotPEM    = errors.New("not a PEM file with a key")
	errKeyKind   = errors.New("neither an RSA nor an ECDSA key")
	errPublicKey = errors.New("a public key, and signing takes the private one")
)

// in puts the name of a file, folder or artifact before each of the joined errors.
func in(name string, err error) error {
	var errs []error
	for _, err := range manifest.EachError(err) {
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return errors.Join(errs...)
}

func errTooLarge(limit int64) error { return fmt.Errorf("larger than the limit of %d MiB", limit>>20) }

func errPull(err error) error { return fmt.Errorf("cannot pull: %w", err) }

func errPush(err error) error { return fmt.Errorf("cannot push: %w", err) }
