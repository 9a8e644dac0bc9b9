// Package portingapi serves port requests and letters of authorization. None of it is built yet: its operations answer 501.
package portingapi
