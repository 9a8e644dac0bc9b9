package settings

import (
	"context"
	"runtime/debug"

	"github.com/callwright/callwright/transport/dashboard/page"
)

// about is the page of what the program is made of.
func (p pages) about(_ context.Context, r *page.Request) (page.Answer, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return &page.View{Page: "about", Title: "About", Data: struct {
		menu
		*debug.BuildInfo
	}{p.menu(r), info}}, nil
}
