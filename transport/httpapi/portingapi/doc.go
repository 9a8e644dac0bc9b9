// Package portingapi serves port requests and letters of authorization, and tells webhooks of what happens to a request.
package portingapi
