package bundle

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// Scheme begins references to artifacts in registries.
const Scheme = "oci://"

// Registry is a place in a registry. Logins of docker, podman and oras are used.
type Registry struct {
	// Reference is oci://REGISTRY/REPOSITORY:TAG.
	Reference string
	// PlainHTTP uses no TLS, as registries of the local host never do.
	PlainHTTP bool
}

func (r Registry) repository() (*remote.Repository, error) {
	repository, err := remote.NewRepository(strings.TrimPrefix(r.Reference, Scheme))
	if err != nil {
		return nil, fmt.Errorf("not a reference of the form oci://REGISTRY/REPOSITORY:TAG: %w", err)
	}
	if repository.Reference.Reference == "" {
		return nil, errors.New("needs a tag, as in oci://REGISTRY/REPOSITORY:TAG")
	}
	repository.PlainHTTP = r.PlainHTTP || isLocal(repository.Reference.Registry)
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, err
	}
	repository.Client = &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache(), Credential: credentials.Credential(store)}
	return repository, nil
}

func isLocal(registry string) bool {
	host, _, err := net.SplitHostPort(registry)
	if err != nil {
		host = registry
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
