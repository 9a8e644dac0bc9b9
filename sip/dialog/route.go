package dialog

import "slices"

// Route is one entry of a Record-Route or Route header.
type Route struct {
	URI   string
	Loose bool // with the lr parameter (RFC 3261, 16.12)
}

// Path is the route of a request.
type Path struct {
	RequestURI string
	Routes     []Route // Route headers, top down
	NextHop    string  // the URI to connect to
}

// path returns the path to a remote target through a route set (RFC 3261, 12.2.1.1). With a strict router, the Request-URI
// is the router and the target comes last.
func path(target string, routes []Route) Path {
	switch {
	case len(routes) == 0:
		return Path{RequestURI: target, NextHop: target}
	case routes[0].Loose:
		return Path{RequestURI: target, Routes: routes, NextHop: routes[0].URI}
	default:
		rest := append(slices.Clone(routes[1:]), Route{URI: target})
		return Path{RequestURI: routes[0].URI, Routes: rest, NextHop: routes[0].URI}
	}
}

// reversed returns the route set of the calling side (12.1.2).
func reversed(recorded []Route) []Route {
	r := slices.Clone(recorded)
	slices.Reverse(r)
	return r
}
