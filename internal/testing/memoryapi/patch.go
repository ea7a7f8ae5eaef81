package memoryapi

import (
	"encoding/json"

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

// apply supports the one kind of patch that the controller sends.
func apply(c Call, text []byte, shape Object) ([]byte, error) {
	if c.patchType != types.StrategicMergePatchType {
		return nil, errUnsupported(string(c.patchType))
	}
	return strategicpatch.StrategicMergePatch(text, c.Body, shape)
}
