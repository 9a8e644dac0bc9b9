package dashboard

// Areas returns the areas of a configuration, for tests that look at every route.
var Areas = areas
