package main

import (
	"context"
	"net"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/serving"
)

// servers holds the HTTP servers, one per address.
type servers []*server

type server struct {
	address  string // value of the flag
	listener net.Listener
	mux      *http.ServeMux
	paths    []string

	certificate serving.Certificate // nil for HTTP
}

// add registers a handler on the address in a flag, and listens on the address unless another server already does. It does
// nothing if the address is empty. Without a certificate it serves HTTP.
func (all *servers) add(flag, address string, handler http.Handler, certificate serving.Certificate, paths ...string) error {
	if address == "" {
		return nil
	}
	i := slices.IndexFunc(*all, func(s *server) bool { return s.address == address })
	if i < 0 {
		listener, err := net.Listen("tcp", address) //nolint:noctx // nothing is looked up for long
		if err != nil {
			return errListen(flag, err)
		}
		i = len(*all)
		*all = append(*all, &server{address: address, listener: listener, mux: http.NewServeMux(), certificate: certificate})
	}
	s := (*all)[i]
	for _, path := range paths {
		s.mux.Handle(path, handler)
	}
	s.paths = append(s.paths, paths...)
	return nil
}

// serve serves until ctx is done. It calls failed if a server cannot continue.
func (all *servers) serve(ctx context.Context, failed func()) *errgroup.Group {
	var group errgroup.Group
	for _, s := range *all {
		klog.FromContext(ctx).Info("Listening", "address", s.listener.Addr().String(), "paths", s.paths)
		group.Go(func() error {
			err := serving.Serve(ctx, s.listener, s.mux, s.certificate)
			if err != nil {
				failed()
			}
			return err
		})
	}
	return &group
}
