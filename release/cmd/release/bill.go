package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
)

// writeBills writes the bill of materials of each program: the modules that the Go linker has recorded in it. A bill has no serial
// number, which would differ from one run to the next.
func (r *release) writeBills(context.Context) error {
	for _, p := range r.platforms {
		for _, name := range p.programs() {
			bill, err := r.bill(name, p)
			if err != nil {
				return err
			}
			err = create(r.file("%s_%s_%s.cdx.json", name, r.version, p), func(out io.Writer) error { return encode(out, bill) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func encode(out io.Writer, bill *cyclonedx.BOM) error {
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
}

// imageBill returns the bill of an image, as an artifact about it: the modules of the program, and the module with the authorities.
func (r *release) imageBill(name string, p platform, image v1.Image) (v1.Image, error) {
	// They are linked into this program.
	linked, _ := debug.ReadBuildInfo()
	at := slices.IndexFunc(linked.Deps, func(module *debug.Module) bool { return module.Path == rootsModule })
	bill, err := r.bill(name, p, component(cyclonedx.ComponentTypeData, rootsModule, linked.Deps[at].Version))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := encode(&text, bill); err != nil {
		return nil, err
	}
	subject, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	subject.ArtifactType = "" // an image is none
	const kind = "application/vnd.cyclonedx+json"
	manifest := v1.Manifest{ArtifactType: kind, Config: v1.Descriptor{MediaType: "application/vnd.oci.empty.v1+json"}, Subject: subject}
	return newArtifact(manifest, []byte("{}"), static.NewLayer(text.Bytes(), kind))
}

// bill returns the bill of a program, and of what else there is beside it.
func (r *release) bill(name string, p platform, beside ...cyclonedx.Component) (*cyclonedx.BOM, error) {
	info, err := buildinfo.ReadFile(r.binary(p, name))
	if err != nil {
		return nil, err
	}
	program := component(cyclonedx.ComponentTypeApplication, info.Main.Path, "v"+r.version)
	program.Name, program.PackageURL = name, program.PackageURL+"#cmd/"+name
	components := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, component(cyclonedx.ComponentTypeLibrary, module.Path, module.Version))
	}
	components = append(components, beside...)
	needs := make([]string, 0, len(components))
	for _, c := range components {
		needs = append(needs, c.BOMRef)
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Timestamp: r.time.UTC().Format("2006-01-02T15:04:05Z"), Component: &program}
	bill.Components = &components
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return bill, nil
}

func component(kind cyclonedx.ComponentType, module, version string) cyclonedx.Component {
	url := "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: module, Version: version, PackageURL: url}
}
