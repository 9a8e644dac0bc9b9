// Package platform is the running product: every domain behind the /v1 API and the dashboard, on this machine's own database, telephone
// and speech engines, with every part exchangeable.
//
//	p, err := platform.New(platform.Defaults())
//	if err == nil {
//		err = p.Run(ctx)
//	}
//
// The reference server is this package and flags. A program that has a model, a database or a sign-in of its own gives them in Config;
// one that serves HTTP itself leaves Addr empty and mounts the Platform, which is an http.Handler.
//
// app.go connects the parts.
package platform
