package pgtest

// What the tests of this package look at beside DSN.
var (
	FindBinaries = findBinaries
	WithDatabase = withDatabase
)
