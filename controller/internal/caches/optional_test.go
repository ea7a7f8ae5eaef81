package caches

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
)

// TestOptionalKinds checks that a kind that is not served, or that the controller was never allowed to list, has no objects. If listing was
// allowed before, a refusal is an error, and the known objects are kept unless Forget is set.
func TestOptionalKinds(t *testing.T) {
	resource := schema.GroupResource{Resource: "things"}
	gone, forbidden, broken := apierrors.NewNotFound(resource, ""), apierrors.NewForbidden(resource, "", errors.New("no role")), errors.New("connection refused")
	for _, test := range []struct {
		name            string
		forget          bool
		answers         []error // responses to successive lists
		listed, watched error   // results of the last list, and of a watch with the same response
	}{
		{"served", false, []error{nil}, nil, nil},
		{"not served", false, []error{gone}, nil, nil},
		{"removed", false, []error{nil, gone}, nil, nil},
		{"never allowed", false, []error{forbidden}, nil, nil},
		{"not allowed any more", false, []error{nil, forbidden}, forbidden, forbidden},
		{"not allowed any more, and forgotten", true, []error{nil, forbidden}, nil, nil},
		{"not reached", false, []error{broken}, broken, broken},
		{"not reached any more", false, []error{gone, nil, broken}, broken, broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			var answer error
			o := optionalOf(&answer)
			o.Forget = test.forget
			var list runtime.Object
			var err error
			for _, answer = range test.answers {
				list, err = o.list(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
			}
			if !errors.Is(err, test.listed) || err == nil && list == nil {
				t.Errorf("the list is %v, its error %v", list, err)
			}
			w, err := o.watch(t.Context(), metav1.ListOptions{})
			if !errors.Is(err, test.watched) || err == nil && w == nil {
				t.Errorf("the watch is %v, its error %v", w, err)
			}
			if w != nil {
				w.Stop()
			}
		})
	}
}

// TestOptionalKindsComeAndGo checks that a new list is triggered when a kind appears or disappears.
func TestOptionalKindsComeAndGo(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, "")
	answer := error(gone)
	o := optionalOf(&answer)
	for _, next := range []error{nil, gone, nil} {
		if _, err := o.list(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		answer = next
		if _, err := o.watch(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
			t.Errorf("the answer to lists is now %v, and the watch ends with %v", next, err)
		}
	}
}

// TestOptionalWatchOfNothing checks that a watch without events ends after a while, or when it is stopped.
func TestOptionalWatchOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := error(apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, ""))
		o := optionalOf(&answer)
		if _, err := o.list(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, stopped := range []bool{false, true} {
			start := time.Now()
			w, err := o.watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if stopped {
				w.Stop()
			}
			if _, more := <-w.ResultChan(); more || (time.Since(start) == absencePeriod) == stopped {
				t.Errorf("more is told: %t, after %s", more, time.Since(start))
			}
		}
	})
}

// optionalOf returns an Optional whose requests return the given error.
func optionalOf(answer *error) *Optional {
	return &Optional{
		Resource: "things", Clock: clock.RealClock{}, None: func() runtime.Object { return &corev1.NamespaceList{} },
		Lists: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.NamespaceList{}, *answer
		},
		Watches: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if *answer != nil {
				return nil, *answer
			}
			return watch.NewFake(), nil
		},
	}
}
