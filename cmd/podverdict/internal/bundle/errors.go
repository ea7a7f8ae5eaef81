package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

var (
	errNotPEM    = errors.New("not a PEM file with a key")
	errKeyKind   = errors.New("neither an RSA nor an ECDSA key")
	errPublicKey = errors.New("a public key, and signing takes the private one")
)

// in gives an error the name of the file, folder or artifact that it is about.
func in(name string, err error) error {
	var errs []error
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, err := range joined.Unwrap() {
		errs = append(errs, in(name, err))
	}
	return errors.Join(errs...)
}

func errUnreadable(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name is said already
	}
	return fmt.Errorf("%s: cannot read: %w", name, err)
}

func errUnwritable(name string, err error) error {
	return fmt.Errorf("%s: cannot write: %w", name, err)
}

func errTooLarge(limit int64) error { return fmt.Errorf("larger than the limit of %d MiB", limit>>20) }

func errPull(err error) error { return fmt.Errorf("cannot pull: %w", err) }

func errPush(err error) error { return fmt.Errorf("cannot push: %w", err) }

func errNoLayer(mediaTypes []string) error {
	if len(mediaTypes) == 0 {
		return errors.New("no bundle: the artifact has no layers")
	}
	return fmt.Errorf("no bundle: the artifact has layers of type %s; those for conftest have the tag without -conftest beside them",
		strings.Join(mediaTypes, ", "))
}
