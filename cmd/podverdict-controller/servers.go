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

// servers are the HTTP servers, one at each address.
type servers []*server

type server struct {
	address  string // as it was given
	listener net.Listener
	mux      *http.ServeMux
	paths    []string

	certificate serving.Certificate // nil for HTTP
}

// add takes the address that a flag gives, unless it is empty or already taken by another one. Without a certificate it is for
// HTTP.
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

// serve answers until ctx is done. When one of them cannot, failed is called.
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
