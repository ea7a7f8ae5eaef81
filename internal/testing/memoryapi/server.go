package memoryapi

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Server stores objects in memory. Stored objects are replaced, never changed.
type Server struct {
	// ListsOnly makes the server reject watches with initial events, like older servers. Set it before the first call.
	ListsOnly bool

	now func() time.Time

	mu       sync.Mutex
	version  int64
	tables   map[string]*table
	observer func(Change)
}

// Change is one change of an object.
type Change struct {
	Version int64
	// Old is nil if the object was created, New if it was deleted.
	Old, New Object
}

// table holds a resource's objects and the history of their changes.
type table struct {
	resource

	objects   map[types.NamespacedName]Object
	history   []Change
	shown     int64 // the version up to which clients see changes
	compacted int64 // the version before which history is gone
	absent    bool  // not served
	streams   map[*stream]bool
}

// live is the value of shown for a cache that does not lag.
const live = math.MaxInt64

// New returns a Server without objects, whose clock is now.
func New(now func() time.Time) *Server {
	s := &Server{now: now, tables: map[string]*table{}}
	for _, r := range resources {
		s.tables[r.name] = &table{resource: r, objects: map[types.NamespacedName]Object{}, shown: live, streams: map[*stream]bool{}}
	}
	return s
}

// Config returns a client configuration without rate limits.
func (s *Server) Config() *rest.Config { return Config(s) }

// Config returns a client configuration without rate limits whose calls reach a Server through transport.
func Config(transport http.RoundTripper) *rest.Config {
	content := rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf", AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json"}
	return &rest.Config{Host: "http://memory", Transport: transport, QPS: -1, ContentConfig: content}
}

// Watch registers a function that is called after every change of anything but events, before any client can see the
// change. It must not call the Server.
func (s *Server) Watch(observer func(Change)) { s.observer = observer }

// Events returns the recorded events, sorted by name.
func (s *Server) Events() []*eventsv1.Event { return listed[*eventsv1.Event](s, Events) }

// listed returns a table's objects, sorted by name. The caller must not change them.
func listed[T Object](s *Server, resource string) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []T
	for _, o := range s.tables[resource].sorted() {
		if object, ok := o.(T); ok {
			all = append(all, object)
		}
	}
	return all
}

// copied is an object of a Go type that copies itself.
type copied[T any] interface {
	Object
	DeepCopy() T
}

// get returns a copy of an object, or nil.
func get[T copied[T]](s *Server, resource, namespace, name string) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, _ := s.tables[resource].objects[types.NamespacedName{Namespace: namespace, Name: name}].(T)
	return o.DeepCopy()
}

// created stores a copy of an object as if a client had created it, and returns a copy of the stored object.
func created[T copied[T]](s *Server, resource string, o T) (stored T, err error) {
	s.mu.Lock()
	_, err = s.create(s.tables[resource], o.DeepCopy())
	s.mu.Unlock()
	if err != nil {
		return stored, err
	}
	return get[T](s, resource, o.GetNamespace(), o.GetName()), nil
}

// edit changes an object without validation, if it exists.
func edit[T copied[T]](s *Server, resource, namespace, name string, change func(T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[resource]
	if old, ok := t.objects[types.NamespacedName{Namespace: namespace, Name: name}].(T); ok {
		o := old.DeepCopy()
		change(o)
		s.store(t, o)
	}
}

func (t *table) sorted() []Object {
	return slices.SortedFunc(maps.Values(t.objects), func(a, b Object) int { return cmp.Compare(keyOf(a).String(), keyOf(b).String()) })
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// put stores a new or changed object, unless it equals the stored one. The Server owns the object from then on.
func (s *Server) put(t *table, o Object) Object {
	old := t.objects[keyOf(o)]
	if old != nil {
		o.SetResourceVersion(old.GetResourceVersion())
		if equality.Semantic.DeepEqual(old, o) {
			return old
		}
	}
	s.version++
	o.SetResourceVersion(strconv.FormatInt(s.version, 10))
	t.objects[keyOf(o)] = o
	s.changed(t, Change{s.version, old, o})
	return o
}

func (s *Server) remove(t *table, o Object) {
	s.version++
	delete(t.objects, keyOf(o))
	s.changed(t, Change{s.version, o, nil})
}

func (s *Server) changed(t *table, c Change) {
	t.history = append(t.history, c)
	if s.observer != nil && t.name != Events {
		s.observer(c)
	}
	t.feed()
}

// kind returns the type of event and the object that a watcher gets for a change, given the objects that its selector
// selects.
func (c Change) kind(wanted func(Object) bool) (watch.EventType, Object) {
	before, after := c.Old != nil && wanted(c.Old), c.New != nil && wanted(c.New)
	switch {
	case before && after:
		return watch.Modified, c.New
	case after:
		return watch.Added, c.New
	case before:
		return watch.Deleted, c.Old
	default:
		return "", nil
	}
}
