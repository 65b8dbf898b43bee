export { nearestName } from '../model/nearest-name.ts'
