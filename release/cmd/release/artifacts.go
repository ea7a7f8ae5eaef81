package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// artifact is a file as registries store it.
type artifact struct {
	manifest      []byte
	configuration []byte
	content       v1.Layer
}

// newArtifact returns the artifact of a file. The manifest says what it is, and which image it is about.
func newArtifact(manifest v1.Manifest, configuration []byte, content v1.Layer) (v1.Image, error) {
	layer, err := partial.Descriptor(content)
	if err != nil {
		return nil, err
	}
	manifest.SchemaVersion, manifest.MediaType, manifest.Layers = 2, types.OCIManifestSchema1, []v1.Descriptor{*layer}
	manifest.Config.Digest, manifest.Config.Size, err = v1.SHA256(bytes.NewReader(configuration))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{text, configuration, content})
}

// The following methods are what the library makes an image of.

func (a *artifact) RawManifest() ([]byte, error)                           { return a.manifest, nil }
func (a *artifact) RawConfigFile() ([]byte, error)                         { return a.configuration, nil }
func (a *artifact) MediaType() (types.MediaType, error)                    { return types.OCIManifestSchema1, nil }
func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.content, nil }

// storable is an image, an index of images, or an artifact.
type storable interface {
	mutate.Appendable
	remote.Taggable
}

// store writes an image, an index or an artifact into the OCI layout, and pushes it when that is asked for. Without a tag it is found by
// its digest, or by its subject's.
func (r *release) store(ctx context.Context, repository, tag string, content storable) (v1.Hash, error) {
	digest, err := content.Digest()
	if err != nil {
		return digest, err
	}
	var options []layout.Option
	if tag != "" {
		tag = strings.ReplaceAll(tag, "+", "_") // as Helm does; a tag may not have it
		options = append(options, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": repository + ":" + tag}))
	}
	into, err := layout.FromPath(r.file("oci"))
	if err != nil {
		into, err = layout.Write(r.file("oci"), empty.Index)
	}
	if err != nil {
		return digest, err
	}
	switch content := content.(type) {
	case v1.ImageIndex:
		err = into.AppendIndex(content, options...)
	case v1.Image:
		err = into.AppendImage(content, options...)
	}
	if err != nil || !r.push {
		return digest, err
	}
	return digest, r.pushTo(ctx, repository, tag, digest, content)
}

// pushTo pushes by the credentials of docker login.
func (r *release) pushTo(ctx context.Context, repository, tag string, digest v1.Hash, content remote.Taggable) error {
	at := r.images + "/" + repository + "@" + digest.String()
	reference, err := name.ParseReference(at, name.StrictValidation)
	if tag != "" && err == nil {
		reference, err = name.NewTag(r.images+"/"+repository+":"+tag, name.StrictValidation)
	}
	if err != nil {
		return err
	}
	r.pushed = append(r.pushed, at)
	return remote.Push(reference, content, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

// writePushed lists what was pushed, for the signatures.
func (r *release) writePushed(context.Context) error {
	if !r.push {
		return nil
	}
	return write(r.file("pushed.txt"), []byte(strings.Join(r.pushed, "\n")+"\n"))
}
