package bundle

import (
	"context"
	"path"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/memory"
)

// conftestSuffix ends the tag of the artifact for conftest.
const conftestSuffix = "-conftest"

// Types of what conftest pushes and pulls.
const (
	conftestConfig = "application/vnd.cncf.openpolicyagent.config.v1+json"
	conftestPolicy = "application/vnd.cncf.openpolicyagent.policy.layer.v1+rego"
	conftestData   = "application/vnd.cncf.openpolicyagent.data.layer.v1+json"
)

// Artifact is what a push has left in a registry.
type Artifact struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
}

// Push writes the bundle to a registry, as OPA and as conftest want it. Tags that are there already move.
func (b *Bundle) Push(ctx context.Context, to Registry) ([]Artifact, error) {
	repository, err := to.repository()
	if err != nil {
		return nil, in(to.Reference, err)
	}
	staged := memory.New()
	forOPA, err := b.stageOPA(ctx, staged)
	if err != nil {
		return nil, in(to.Reference, errPush(err))
	}
	forConftest, err := b.stageConftest(ctx, staged)
	if err != nil {
		return nil, in(to.Reference, errPush(err))
	}
	manifests := []ocispec.Descriptor{forOPA, forConftest}
	for _, manifest := range manifests {
		if err := oras.CopyGraph(ctx, staged, repository, manifest, oras.DefaultCopyGraphOptions); err != nil {
			return nil, in(to.Reference, errPush(err))
		}
	}
	var pushed []Artifact
	for i, suffix := range []string{"", conftestSuffix} {
		if err := repository.Tag(ctx, manifests[i], repository.Reference.Reference+suffix); err != nil {
			return nil, in(to.Reference+suffix, errPush(err))
		}
		pushed = append(pushed, Artifact{to.Reference + suffix, manifests[i].Digest.String()})
	}
	return pushed, nil
}

func (b *Bundle) stageOPA(ctx context.Context, staged *memory.Store) (ocispec.Descriptor, error) {
	layer, err := stage(ctx, staged, ocispec.MediaTypeImageLayerGzip, file{FileName, b.Archive})
	if err != nil {
		return layer, err
	}
	return b.pack(ctx, staged, ocispec.MediaTypeImageConfig, []ocispec.Descriptor{layer})
}

func (b *Bundle) stageConftest(ctx context.Context, staged *memory.Store) (ocispec.Descriptor, error) {
	var layers []ocispec.Descriptor
	for _, f := range b.files {
		mediaType := conftestPolicy
		if path.Ext(f.path) == ".json" {
			mediaType = conftestData
		}
		layer, err := stage(ctx, staged, mediaType, f)
		if err != nil {
			return layer, err
		}
		layers = append(layers, layer)
	}
	return b.pack(ctx, staged, conftestConfig, layers)
}

// stage adds a layer, which unpacks to the file.
func stage(ctx context.Context, staged *memory.Store, mediaType string, f file) (ocispec.Descriptor, error) {
	layer, err := oras.PushBytes(ctx, staged, mediaType, f.data)
	layer.Annotations = map[string]string{ocispec.AnnotationTitle: f.path}
	return layer, err
}

// pack adds a manifest. The same layers give the same manifest.
func (b *Bundle) pack(
	ctx context.Context, staged *memory.Store, configType string, layers []ocispec.Descriptor,
) (ocispec.Descriptor, error) {
	config, err := oras.PushBytes(ctx, staged, configType, []byte("{}"))
	if err != nil {
		return config, err
	}
	return oras.PackManifest(ctx, staged, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		Layers:           layers,
		ConfigDescriptor: &config,
		ManifestAnnotations: map[string]string{
			ocispec.AnnotationCreated: "1970-01-01T00:00:00Z", // else it is now
			ocispec.AnnotationVersion: b.Revision,
		},
	})
}
