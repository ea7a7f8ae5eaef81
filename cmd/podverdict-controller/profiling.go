package main

import (
	"net/http"
	"net/http/pprof"
)

// profilingPath is the path of net/http/pprof.
const profilingPath = "/debug/pprof/"

// profilingHandler serves profiles of the process for go tool pprof.
func profilingHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+profilingPath, pprof.Index)
	mux.HandleFunc("GET "+profilingPath+"cmdline", pprof.Cmdline)
	mux.HandleFunc("GET "+profilingPath+"profile", pprof.Profile)
	mux.HandleFunc("GET "+profilingPath+"symbol", pprof.Symbol)
	mux.HandleFunc("GET "+profilingPath+"trace", pprof.Trace)
	return mux
}
