package memoryapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// Hold freezes the caches of resources: watches send nothing new, and lists that allow older data return the frozen
// state.
func (s *Server) Hold(resources ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range resources {
		s.tables[name].shown = s.version
	}
}

// Show lets the cache of a held resource advance by a number of changes, and returns how many are still hidden.
func (s *Server) Show(resource string, changes int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[resource]
	hidden := t.hidden()
	if shown := min(changes, len(hidden)); shown > 0 {
		t.shown = hidden[shown-1].Version
		hidden = hidden[shown:]
	}
	t.feed()
	return len(hidden)
}

// hidden returns the changes that the cache does not show yet.
func (t *table) hidden() []Change {
	first, _ := slices.BinarySearchFunc(t.history, t.shown, func(c Change, shown int64) int {
		if c.Version <= shown {
			return -1
		}
		return 1
	})
	return t.history[first:]
}

// Release ends Hold.
func (s *Server) Release(resources ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range resources {
		s.tables[name].shown = live
		s.tables[name].feed()
	}
}

// Bookmark sends a bookmark to all watchers of a resource.
func (s *Server) Bookmark(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[resource]
	for w := range t.streams {
		if w.bookmarks && w.sent < min(t.shown, s.version) {
			w.sent = min(t.shown, s.version)
			w.send(watch.Bookmark, t.bookmark(w.sent))
		}
	}
}

func (t *table) bookmark(version int64) Object {
	o := t.fresh()
	o.SetResourceVersion(strconv.FormatInt(version, 10))
	return o
}

// CloseWatches ends the watches of a resource.
func (s *Server) CloseWatches(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[resource]
	for w := range t.streams {
		w.end()
	}
	clear(t.streams)
}

// Compact discards the history of a resource: clients that watch from an older version must list again.
func (s *Server) Compact(resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[resource].compacted = s.version
}

// list returns the newest state, or the cache's state if the caller allows older data.
func (s *Server) list(t *table, c Call) (runtime.Object, error) {
	at, err := s.since(t, c)
	if err != nil {
		return nil, err
	}
	wanted, err := c.wanted()
	if err != nil {
		return nil, err
	}
	var objects []Object
	for _, o := range t.stateAt(at) {
		if wanted(o) {
			objects = append(objects, o)
		}
	}
	return t.list(objects, at)
}

// since returns the version for a list or for the initial events of a watch.
func (s *Server) since(t *table, c Call) (int64, error) {
	text := c.query.Get("resourceVersion")
	if text == "" {
		return s.version, nil
	}
	least, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, apierrors.NewBadRequest(err.Error())
	case least > s.version:
		return 0, apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", least, s.version), 1)
	}
	return max(least, min(t.shown, s.version)), nil
}

// stateAt returns the objects as they were at a version, sorted by name.
func (t *table) stateAt(version int64) []Object {
	last := len(t.history) - 1
	if last < 0 || t.history[last].Version <= version {
		return t.sorted()
	}
	then := table{objects: map[types.NamespacedName]Object{}}
	for _, c := range t.history {
		switch {
		case c.Version > version:
			return then.sorted()
		case c.New == nil:
			delete(then.objects, keyOf(c.Old))
		default:
			then.objects[keyOf(c.New)] = c.New
		}
	}
	return then.sorted()
}

// wanted returns a filter for the objects that a list or watch selects.
func (c Call) wanted() (func(Object) bool, error) {
	selector, err := labels.Parse(c.query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(o Object) bool {
		return (c.Namespace == "" || o.GetNamespace() == c.Namespace) && selector.Matches(labels.Set(o.GetLabels()))
	}, nil
}

// watch responds with a stream of changes.
func (s *Server) watch(r *http.Request, c Call) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[c.Resource]
	if t == nil || t.absent {
		return Refuse(r, errNotServed(c.Resource))
	}
	w, err := s.open(t, r, c)
	if err != nil {
		return Refuse(r, err)
	}
	t.streams[w] = true
	t.feed()
	return response(r, http.StatusOK, w.media.MediaType+";stream=watch", w)
}

func (s *Server) open(t *table, r *http.Request, c Call) (*stream, error) {
	wanted, err := c.wanted()
	if err != nil {
		return nil, err
	}
	w := &stream{
		table: t, wanted: wanted, bookmarks: c.query.Get("allowWatchBookmarks") == "true", done: r.Context().Done(), media: mediaOf(r),
		changed: make(chan struct{}, 1),
	}
	text := c.query.Get("resourceVersion")
	initial := c.query.Get("sendInitialEvents") == "true"
	if initial && s.ListsOnly {
		wrong := field.Forbidden(field.NewPath("sendInitialEvents"), "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", field.ErrorList{wrong})
	}
	if w.sent, err = s.since(t, c); err != nil {
		return nil, err
	}
	if initial || text == "" || text == "0" {
		w.begin(initial)
		return w, nil
	}
	w.sent, _ = strconv.ParseInt(text, 10, 64) // since has validated it
	if w.sent < t.compacted {
		return nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", w.sent, t.compacted))
	}
	return w, nil
}

// feed sends the changes in the cache to the watchers.
func (t *table) feed() {
	for w := range t.streams {
		if w.over() {
			delete(t.streams, w)
			continue
		}
		w.feed()
	}
}
