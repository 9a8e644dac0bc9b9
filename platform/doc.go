// Package platform runs the complete product: every domain behind the /v1 API and the dashboard. By default it uses this machine's own
// database, SIP user agent and speech engines. Every part can be replaced.
//
//	p, err := platform.New(platform.Defaults())
//	if err == nil {
//		err = p.Run(ctx)
//	}
//
// The reference server consists of this package and flags. A program with its own model, database or sign-in sets them in Config. A program
// with its own HTTP server leaves Addr empty and mounts the Platform, which is an http.Handler.
//
// app.go connects the parts.
package platform
