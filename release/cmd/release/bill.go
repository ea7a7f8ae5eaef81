package main

import (
	"context"
	"debug/buildinfo"
	"io"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeBills writes the bill of materials of each program: the modules that the Go linker has recorded in it. A bill has no serial
// number, which would differ from one run to the next.
func (r *release) writeBills(context.Context) error {
	for _, p := range r.platforms {
		for _, name := range p.programs() {
			info, err := buildinfo.ReadFile(r.binary(p, name))
			if err != nil {
				return err
			}
			bill := r.bill(name, info)
			err = create(r.file("%s_%s_%s.cdx.json", name, r.version, p), func(out io.Writer) error {
				return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) bill(name string, info *buildinfo.BuildInfo) *cyclonedx.BOM {
	program := component(cyclonedx.ComponentTypeApplication, info.Main.Path, "v"+r.version)
	program.Name, program.PackageURL = name, program.PackageURL+"#cmd/"+name
	components := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, component(cyclonedx.ComponentTypeLibrary, module.Path, module.Version))
	}
	needs := make([]string, 0, len(components))
	for _, c := range components {
		needs = append(needs, c.BOMRef)
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Timestamp: r.time.UTC().Format("2006-01-02T15:04:05Z"), Component: &program}
	bill.Components = &components
	bill.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return bill
}

func component(kind cyclonedx.ComponentType, module, version string) cyclonedx.Component {
	url := "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: module, Version: version, PackageURL: url}
}
