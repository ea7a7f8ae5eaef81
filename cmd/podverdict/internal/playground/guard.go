package playground

import (
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// guard passes on requests of this machine that only read.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Security-Policy", "frame-ancestors 'none'") // beside that of the page
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method):
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "this is only for reading", http.StatusMethodNotAllowed)
		case !local(r.Host):
			http.Error(w, "the host of the address is not this machine", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// private passes on requests that the page makes, or a program, if they have the token.
func private(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case !sameSite(r):
			http.Error(w, "asked by a page of another address", http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) == 0:
			http.Error(w, "the token is missing or wrong: open the address that podverdict printed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// local reports whether a host is this machine, by an address or the name that browsers resolve themselves. The port is
// any: it may be forwarded.
func local(host string) bool {
	name := host
	if only, _, err := net.SplitHostPort(host); err == nil {
		name = only
	}
	address := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || address != nil && address.IsLoopback()
}

// sameSite reports whether a request comes from the page itself, or from a program that is no browser.
func sameSite(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	return (site == "" || site == "same-origin") && (origin == "" || strings.EqualFold(origin, "http://"+r.Host))
}
