package v1alpha1

import (
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func errYAML(err error) error { return fmt.Errorf("not YAML: %w", err) }

func errKind(got metav1.TypeMeta) error {
	switch {
	case got.Kind == "":
		return errors.New("kind: Required value")
	case got.APIVersion == "":
		return errors.New("apiVersion: Required value")
	}
	return fmt.Errorf("want a %s or %s of %s, got a %s of %s",
		KindPodFailurePolicy, KindPodFailurePolicyBinding, GroupVersion, got.Kind, got.APIVersion)
}

func errDecode(kind, name string, err error) error {
	if name == "" {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return fmt.Errorf("%s %q: %w", kind, name, err)
}

func messageNoRetry(action batchv1.PodFailurePolicyAction) string {
	return fmt.Sprintf("must be left out with %s, after which there is no retry", action)
}

const (
	messageNothingToRetry = "must have memory or avoidNode"

	messageNoRules    = "must have 1 rule at least"
	messageSameAction = "must differ from the rule's action"
	messageDelayRange = "must be between 0s and 24h"
	messageDelayUnit  = "must be whole seconds"
	messageFactor     = "must be a decimal number from 1.01 to 10, with at most two decimals"
	messageMemory     = "must be a number greater than 0 with a unit of memory, as 16Gi"
	messageDelayForm  = "must be whole hours, minutes and seconds, as 1h30m"
	messageIdentifier = "must be letters, digits and underscores, and not start with a digit"
	messageReserved   = "must not be a reserved word of CEL"
	messageCamelCase  = "must be letters and digits, and start with an upper-case letter, as OutOfMemory"
	messageDomain     = "must have a domain and a slash before the name, as in example.com/RestartLimit"
	messageKubernetes = "must not be in the domains kubernetes.io and k8s.io"
	messageNotLiving  = "must be left out with Failed, because only a pod that lives gets a condition"
	messageNull       = "must not be null"
	messageNullLabel  = "must not be null, which the API server drops; an empty label is ''"
	messageEmpty      = "must not be empty; leave it out"
)
