/** The one function that is taken from isomorphic-git; a file of its own, so that the build can leave the rest out. */
export { hashBlob } from 'isomorphic-git'
