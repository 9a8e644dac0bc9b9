package settings

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// about holds the data of the page that lists the program's components.
type about struct {
	menu

	Path, Version, Go string
	Revision          string // revision of the sources in version control, or empty if unknown
	Modified          bool   // the sources differ from Revision
	Modules           []module
}

// own is the beginning of the paths of this repository's packages. The table of licenses lists those of them that contain data of others.
const own = "github.com/callwright/callwright/"

// module is a Go module that is linked into the program, or a package of this repository that contains data of others.
type module struct {
	Path, Version string
	License       string // an SPDX expression, or empty if unknown
}

func (p pages) about(_ context.Context, r *page.Request) (page.Answer, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	a := about{menu: p.menu(r), Path: info.Path, Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			a.Revision = s.Value
		case "vcs.modified":
			a.Modified = s.Value == "true"
		}
	}
	known := Licenses()
	a.Modules = []module{{"Go’s standard library", info.GoVersion, known["std"]}}
	if info.Main.Path != "" {
		a.Modules = append(a.Modules, module{info.Main.Path, info.Main.Version, known[info.Main.Path]})
	}
	for _, m := range info.Deps {
		a.Modules = append(a.Modules, module{m.Path, m.Version, known[m.Path]})
	}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		if strings.HasPrefix(path, own) {
			a.Modules = append(a.Modules, module{path, "", known[path]})
		}
	}
	return &page.View{Page: "about", Title: "About", Data: a}, nil
}
