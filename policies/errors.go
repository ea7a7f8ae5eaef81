package policies

import "fmt"

func errMetadata(file string, err error) error {
	return fmt.Errorf("%s: metadata: %w", file, err)
}
