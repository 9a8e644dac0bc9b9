package dialog

import "slices"

// Route is one entry of a Record-Route or Route header.
type Route struct {
	URI   string
	Loose bool // contains the lr parameter (RFC 3261, section 16.12)
}

// Path contains the Request-URI, the Route headers and the next hop of a request.
type Path struct {
	RequestURI string
	Routes     []Route // Route header fields, top down
	NextHop    string  // URI of the server to connect to
}

// path returns the path to a remote target through a route set (RFC 3261, section 12.2.1.1). If the first router is strict, its URI becomes
// the Request-URI, and the target becomes the last route.
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

// reversed returns the route set of the calling side, which is the Record-Route in reverse order (RFC 3261, section 12.1.2).
func reversed(recorded []Route) []Route {
	r := slices.Clone(recorded)
	slices.Reverse(r)
	return r
}
