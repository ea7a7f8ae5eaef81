//go:build !js

package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// urlTimeout bounds the reading of one URL, body included.
const urlTimeout = 60 * time.Second

// openURL begins to read what a URL names.
func openURL(ctx context.Context, url string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, urlTimeout)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		cancel()
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		cancel()
		return nil, errors.Join(fmt.Errorf("the server answered %s", response.Status), response.Body.Close())
	}
	return &body{response.Body, cancel}, nil
}

// body is that of a response, whose timeout ends with it.
type body struct {
	io.ReadCloser

	cancel context.CancelFunc
}

// Close ends the reading.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
