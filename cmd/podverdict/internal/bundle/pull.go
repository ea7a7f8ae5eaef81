package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
)

// maxManifest is the size of the largest manifest that is read: 4 MiB.
const maxManifest = 4 << 20

// pull fetches the archive of an artifact in OPA's layout, and checks its digest.
func (r Registry) pull(ctx context.Context) ([]byte, error) {
	repository, err := r.repository()
	if err != nil {
		return nil, err
	}
	_, text, err := oras.FetchBytes(ctx, repository, repository.Reference.Reference, oras.FetchBytesOptions{MaxBytes: maxManifest})
	if err != nil {
		return nil, errPull(err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	isArchive := func(layer ocispec.Descriptor) bool { return layer.MediaType == ocispec.MediaTypeImageLayerGzip }
	i := slices.IndexFunc(manifest.Layers, isArchive)
	if i < 0 && len(manifest.Layers) == 0 {
		return nil, errors.New("no bundle: the artifact has no layers")
	}
	if i < 0 {
		return nil, fmt.Errorf("no bundle: the artifact has layers of type %s; those for conftest have the tag without -conftest beside them",
			strings.Join(mediaTypes(manifest.Layers), ", "))
	}
	if manifest.Layers[i].Size > maxArchive {
		return nil, errTooLarge(maxArchive)
	}
	archive, err := content.FetchAll(ctx, repository, manifest.Layers[i])
	if err != nil {
		return nil, errPull(err)
	}
	return archive, nil
}

func mediaTypes(layers []ocispec.Descriptor) []string {
	var all []string
	for _, layer := range layers {
		all = append(all, layer.MediaType)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
