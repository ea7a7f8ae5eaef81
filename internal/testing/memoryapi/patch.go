package memoryapi

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// patch applies a patch. As in the real API server, a resource version or UID in the patch is a precondition.
func (s *Server) patch(t *table, c Call) (Object, error) {
	old, err := t.find(c)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	patched, err := apply(c, text, t.fresh())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o := t.fresh()
	if err := json.Unmarshal(patched, o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if o.GetResourceVersion() != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(t.group(), c.Name, errChanged)
	}
	if o.GetUID() != old.GetUID() {
		wrong := field.Invalid(field.NewPath("metadata", "uid"), o.GetUID(), "field is immutable")
		return nil, apierrors.NewInvalid(t.kind.GroupKind(), c.Name, field.ErrorList{wrong})
	}
	return s.update(t, o, c.Subresource)
}

func apply(c Call, text []byte, shape Object) ([]byte, error) {
	switch c.patchType {
	case types.StrategicMergePatchType:
		return strategicpatch.StrategicMergePatch(text, c.Body, shape)
	case types.MergePatchType:
		return jsonpatch.MergePatch(text, c.Body)
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(c.Body)
		if err != nil {
			return nil, err
		}
		return patch.Apply(text)
	default:
		return nil, errUnsupported(string(c.patchType))
	}
}
