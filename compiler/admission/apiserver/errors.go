package apiserver

import (
	"fmt"
)

func errReview(what string, err error) error { return fmt.Errorf("review: %s: %w", what, err) }
