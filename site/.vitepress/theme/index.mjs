import { h } from 'vue'
import DefaultTheme from 'vitepress/theme-without-fonts'
import Colophon from './Colophon.vue'
import VersionSwitch from './VersionSwitch.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-after': () => h(Colophon) }),
  enhanceApp: ({ app }) => app.component('VersionSwitch', VersionSwitch),
}
