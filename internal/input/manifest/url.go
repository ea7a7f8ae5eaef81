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

// urlTimeout limits the time to read one URL, including the body.
const urlTimeout = 60 * time.Second

// openURL requests a URL and returns the response body.
func openURL(ctx context.Context, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: urlTimeout}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("the server answered %s", response.Status), response.Body.Close())
	}
	return response.Body, nil
}
