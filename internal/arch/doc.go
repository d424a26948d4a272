// Package arch holds no code, only tests: that the packages import each other along the arrows of the house, and that
// nobody calls what is kept for one package (timers, the process's standard streams, clients without a guard).
package arch
