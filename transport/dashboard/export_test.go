package dashboard

import "github.com/callwright/callwright/transport/dashboard/internal/page"

// Areas returns the areas of a configuration, for tests that check every route.
func Areas(c Config) []page.Area {
	c.Runtime = c.WithDefaults()
	return areas(c)
}
