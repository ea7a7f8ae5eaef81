package manifest

import (
	"bytes"
	"io"
	"path/filepath"
	"reflect"
	"regexp"

	kubeyaml "sigs.k8s.io/yaml"
)

// patchDirective matches a directive of strategic merge patches, which does not occur in objects.
var patchDirective = regexp.MustCompile(`(^|[\s"'{])\$patch["']?\s*:`)

// isPatch reports whether a document is a partial object for kustomize to merge: a kustomization lists its file, it contains a
// patch directive, or it is a Job without a template in a file that the user did not name.
func (c *content) isPatch(d *Document) bool {
	switch {
	case len(c.Jobs)+len(c.Policies)+len(c.Bindings)+len(c.errs) == 0:
		return false
	case d.patch, bytes.Contains(d.Text, []byte("$patch")) && patchDirective.Match(d.Text):
		return true
	case !d.found || c.options.Indirect || c.Lists > 0 || len(c.Jobs) != 1:
		return false
	}
	return reflect.ValueOf(c.Jobs[0].Object.Spec.Template).IsZero()
}

// kustomizations are the names of files that list patches.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// maxKustomization limits the bytes read from a kustomization.
const maxKustomization = 1 << 20

// markPatches marks the files that kustomizations in the same directories list as patches.
func (o Options) markPatches(files []source) {
	if o.Indirect {
		return
	}
	patches, folders := map[string]bool{}, map[string]bool{}
	for i := range files {
		if dir := filepath.Dir(files[i].name); !folders[dir] {
			folders[dir] = true
			for _, name := range kustomizations {
				o.addPatches(patches, filepath.Join(dir, name))
			}
		}
	}
	for i := range files {
		files[i].patch = patches[filepath.Clean(files[i].name)]
	}
}

// addPatches adds the files that a kustomization lists as patches. It ignores a missing or unreadable kustomization.
func (o Options) addPatches(patches map[string]bool, kustomization string) {
	file, err := o.open(kustomization)
	if err != nil {
		return
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxKustomization))
	var k struct {
		Patches, PatchesJSON6902 []struct{ Path string }
		PatchesStrategicMerge    []string
	}
	if err != nil || kubeyaml.Unmarshal(text, &k) != nil {
		return
	}
	for _, p := range append(k.Patches, k.PatchesJSON6902...) {
		k.PatchesStrategicMerge = append(k.PatchesStrategicMerge, p.Path)
	}
	for _, path := range k.PatchesStrategicMerge {
		patches[filepath.Join(filepath.Dir(kustomization), filepath.FromSlash(path))] = true
	}
}
